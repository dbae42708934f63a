//go:build faultclock

package main

import _ "comanda/internal/clock/faultclock" // its wall clock can be shifted
