"""`tributary doctor`: what is right, what is not, and what to do, seen from this computer.

finding      what a check comes to
examining    runs checks one after another, each bounded in time
here         this computer: Python, packages, the home folder, disk, the port
asking       the server, as a client sees it: address, version, token, clock
operating    the operator's side: settings, models, AWS credentials, the database
"""

from tributary.edges.cli.doctor.examining import Ground, examine
from tributary.edges.cli.doctor.finding import Finding, State

__all__ = ["Finding", "Ground", "State", "examine"]
