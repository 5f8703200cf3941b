"""The incident agent: recalls, looks, acts once and learns, within bounds, and claims no absence that no search bears out."""

from tributary.responder.absence import absences
from tributary.responder.loop import Responder
from tributary.responder.tools import MemoryFace
from tributary.responder.turn import Acted, Said, Searched, Turn, TurnReply

__all__ = ["Acted", "MemoryFace", "Responder", "Said", "Searched", "Turn", "TurnReply", "absences"]
