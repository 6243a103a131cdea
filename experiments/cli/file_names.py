"""Names of folders and files that both a command's help and what writes them need."""

PUSH_MAP = "push-map"
WORK_PRECISION_PAGE, WORK_PRECISION_CSV = "work-precision.html", "work-precision.csv"
