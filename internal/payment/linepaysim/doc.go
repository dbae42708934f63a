// Package linepaysim simulates LINE Pay for demonstrations and tests: its Online API under /v3 and /v4, the payment
// page, and the faults of both. No money moves.
//
// It shares no code with package linepay, so that a misreading of the manual is not on both sides. It keeps the latest
// payments in memory.
package linepaysim
