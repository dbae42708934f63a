// Package clock is the only reader of the machine's clocks. All other packages take the time from it.
//
// A Clock derives the deciding time. On PostgreSQL that is the server's time, so that several processes agree. On
// SQLite, where one process writes, it is the machine's wall clock. The deciding time is measured at intervals; between
// two measurements it advances with the process's monotonic clock, which cannot be set.
//
//	C1 a step of the wall clock never moves the time that Now returns; only a measurement does
//	C2 every reading compares the wall clock with the monotonic clock; when they part by Step, the time is in doubt
//	C3 while the time is in doubt, Reliable returns false and no deadline may be enforced; a measurement ends the doubt
//	C4 a step of the deciding clock itself is followed and counted, forward and back
//	C5 after a step of a deciding wall clock, Move moves the open deadlines together with the time; until Move succeeds,
//	   the time before the step continues and the doubt stays
//
// C1 alone is not sufficient: Linux stops the monotonic clock while it is suspended, and then the wall clock is right.
//
// Stopwatch and In measure durations and set deadlines of connections. They read the monotonic clock, and no stored
// value depends on them.
package clock
