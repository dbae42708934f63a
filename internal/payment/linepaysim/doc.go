// Package linepaysim behaves as LINE Pay does, for demonstrations and tests: its Online API under /v3 and /v4, the page on
// which a guest pays, and the ways in which both can go wrong. No money moves anywhere.
//
// It shares no code with the room that speaks to the real LINE Pay, so that one misreading of the manual is not on both
// sides. What it knows it keeps in memory, and of that only the latest payments.
package linepaysim
