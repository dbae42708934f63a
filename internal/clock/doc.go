// Package clock is the only reader of the machine's clocks. Everything else takes its time from here.
//
// A Clock derives the deciding time. On PostgreSQL that is the server's time, so that several processes agree; on SQLite,
// where one process writes, it is the wall clock of the machine. The deciding time is measured now and then; between two
// measurements it runs with the monotonic clock of the process, which cannot be set.
//
//	C1 a step of the wall clock never moves the time that Now returns; only a measurement does
//	C2 every reading compares the wall clock with the monotonic clock; when they part by Step, the time is in doubt
//	C3 while the time is in doubt Settled is false, and nothing may end by it; a measurement ends the doubt
//	C4 a step of the deciding clock itself is followed and counted, forward and back
//	C5 a step of a wall clock that decides is followed together with the deadlines of what is open, by Move, or not at all:
//	   until Move succeeds the time before the step goes on and the doubt stays
//
// C1 alone would not do: the monotonic clock stands still while Linux is suspended, and then the wall clock is right.
//
// Stopwatch and In measure spans and set deadlines of connections. They read the monotonic clock and decide nothing that
// is stored.
package clock
