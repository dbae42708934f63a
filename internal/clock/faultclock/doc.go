// Package faultclock sets the wall clock that a process sees, for tests of what such a step does. Only builds with the tag
// faultclock contain more of it than this sentence.
//
// The file that COMANDA_FAULTCLOCK_FILE names holds a span such as +1h or -30m by which the wall clock is shifted. It may be
// written while the process runs. Without the file, and while it is empty, nothing is shifted.
package faultclock
