// Package payment owns payment attempts, the events that gateways report about them, and refunds.
//
// An attempt is one try to pay one order through one gateway, with an amount that never changes. This package has only
// the order's id; package ordering decides what a payment means for the order.
//
// Invariants kept here, as numbered in docs/ARCHITECTURE.md:
//
//	I6 captured minus refunded is the sum of PAID totals; each capture belongs to one PAID order or to one refund
package payment
