// Package faultclock shifts the wall clock that a process reads, for tests of clock steps. Without the build tag
// faultclock it is empty.
//
// The file that COMANDA_FAULTCLOCK_FILE names holds a duration such as +1h or -30m by which the wall clock is shifted.
// It may be written while the process runs. A missing or empty file shifts nothing.
package faultclock
