"""Names of robots for help and messages, without importing readers of the files."""

#: Suffixes of robots' files.
ENDINGS = (".toml", ".urdf", ".xml", ".mjcf", ".json")
#: Prefix of the name of a person (`biped.model.subject`).
SUBJECT = "subject:"
_PERSON = f"{SUBJECT}STATURE,MASS,SEX[,AGE,…]"
ROBOT_NAMES = f"a file {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}, FILE.py:FUNCTION, MODULE:FUNCTION or {_PERSON}"
