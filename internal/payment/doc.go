// Package payment owns tries to pay: attempts, what gateways said about them, and money that must be given back.
//
// An attempt is one try to pay one order through one gateway, with an amount of its own that never changes. The order is
// known here by its id alone; ordering decides what a payment means for it.
//
// Invariants kept here, as numbered in docs/ARCHITECTURE.md:
//
//	I6 captured minus refunded is the sum of PAID totals; each capture belongs to one PAID order or to one refund
package payment
