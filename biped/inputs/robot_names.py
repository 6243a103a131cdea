"""Names of robots, for help and messages: known without importing what reads the files."""

#: What the name of a robot's file ends with.
ENDINGS = (".toml", ".urdf", ".xml", ".mjcf", ".json")
#: What the name of a person begins with (`biped.model.subject`).
SUBJECT = "subject:"
_PERSON = f"{SUBJECT}STATURE,MASS,SEX[,AGE,…]"
ROBOT_NAMES = f"a file {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}, FILE.py:FUNCTION, MODULE:FUNCTION or {_PERSON}"
