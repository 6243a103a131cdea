"""Records of people and of other measurements over time."""

from biped.records.person import with_person
from biped.records.preparation import Preparation
from biped.records.read import FORMATS, read_record
from biped.records.record import Record

__all__ = ["FORMATS", "Preparation", "Record", "read_record", "with_person"]
