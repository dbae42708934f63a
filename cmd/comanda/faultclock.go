//go:build faultclock

package main

import _ "comanda/internal/clock/faultclock" // allows tests to shift the wall clock
