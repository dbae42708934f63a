// Package arch tests the architecture. Its tests read the tables of docs/ARCHITECTURE.md and fail on code that breaks
// them, so that the document cannot become stale.
//
//	A1 packages import only what the table of imports lists for them, and every package has a row
//	A2 a module from outside is imported only where the table lists it
//	A3 a context's root decides: it imports no network, file or database, and the time is an argument
//	A4 the comment of a package states its purpose in a full sentence
//	A5 a file has at most 800 lines of code, 1,500 of tests, or 300 of Lua
//	A6 no file contains a note of unfinished work
//	A7 tests neither skip nor sleep; testenv offers services, waiting and clocks
//	A8 a test that the document names exists
//	A9 only package clock reads the machine's clocks, and Redis keys expire after durations, not at instants
//	A10 comments, texts in code and documents use plain terms; a list of banned phrases fails, and so does the message of
//	    a failed test without words
//	A11 symbols, files and folders that documents and package comments name exist
//	A12 a statement that code names exists, and every statement of a .sql file is run
//	A13 an exported type has a name of its own, unless the names of the packages distinguish the types of that name
//	A14 docs/dependencies.md reviews every direct dependency, and no other
//	A15 the files on the path of an order are few and short, and the document states their number and lines
package arch
