"""Forms of robot names, for help and messages, in a module that imports no file readers."""

#: Suffixes of robot files.
ENDINGS = (".toml", ".urdf", ".xml", ".mjcf", ".json")
#: Prefix of a name that describes a person (`biped.model.subject`).
SUBJECT = "subject:"
_PERSON = f"{SUBJECT}STATURE,MASS,SEX[,AGE,…]"
ROBOT_NAMES = f"a file {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}, FILE.py:FUNCTION, MODULE:FUNCTION or {_PERSON}"
