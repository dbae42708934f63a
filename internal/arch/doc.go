// Package arch tests the architecture. Its tests read the tables of docs/ARCHITECTURE.md and fail on code that breaks
// them, so that the document cannot become stale.
//
//	A1 packages import only what the table of arrows lists for them, and every package has a row
//	A2 a module from outside is imported only where the table says so
//	A3 a context's root decides; it imports no network, file or database, and the time is handed to it
//	A4 every package says in a full sentence what it is for
//	A5 a file stays short enough to be read in one sitting
//	A6 no note of unfinished work stands in for it
//	A7 a test neither skips nor sleeps; services are asked for through testenv, and time is faked or waited for there
//	A8 a test that the document names as a witness exists
//	A9 only package clock reads the clocks of the machine, and what Redis keeps ends after a span, not at an instant
//	A10 comments, texts in code and documents use plain terms; a list of banned phrases fails, and so does a message of
//	    a failed test that has no word
//	A11 symbols, files and folders that documents and package comments name exist
//	A12 a statement that code names exists, and every statement of a .sql file is run
//	A13 an exported type has its name for itself, unless the package's name tells the types of that name apart
//	A14 docs/dependencies.md reviews every direct dependency, and no other
package arch
