// Package arch holds the tests of the architecture: what docs/ARCHITECTURE.md promises about packages fails here when
// the code no longer keeps it. The table of arrows in that document is not a picture of the rules but the rules
// themselves; the tests read it.
//
//	A1 packages import only what the table of arrows lists for them, and every package has a row
//	A2 a module from outside is imported only where the table says so
//	A3 a context's root decides; it imports no network, file or database, and is told what time it is
//	A4 every package says in a full sentence what it is for
//	A5 a file stays short enough to be read in one sitting
//	A6 what is not done is not in the tree: no note of work to come stands in for it
//	A7 a test neither skips nor sleeps; services are asked for through testenv, and time is faked or waited for there
//	A8 a test that the document names as a witness exists
//	A9 only package clock reads the clocks of the machine, and what Redis keeps ends after a span, not at an instant
package arch
