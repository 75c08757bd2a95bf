#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""on-terminal COMMAND...: runs it with a terminal for standard output, and prints what came there."""
import os
import pty
import subprocess
import sys
import termios

leader, follower = pty.openpty()
attributes = termios.tcgetattr(follower)
attributes[1] &= ~termios.OPOST  # the bytes as they were written
termios.tcsetattr(follower, termios.TCSANOW, attributes)
with subprocess.Popen(sys.argv[1:], stdout=follower) as child:
    os.close(follower)
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # EIO: the last writer is gone
            break
        if not part:
            break
        sys.stdout.buffer.write(part)
sys.exit(child.returncode)
