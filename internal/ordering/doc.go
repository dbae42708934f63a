// Package ordering owns orders: placing them, paying them, ending them, and what their guests may see of them.
//
// A use case (place.go, checkout.go, pay.go, refund.go) checks what it is asked and makes a Command of it. The ledger runs
// commands in batches: it loads and locks what they touch, lets a Batch decide each in the order of arrival, and writes
// what the Batch says in one transaction. The Batch is pure; every rule about an order's life stands in it.
//
// Invariants kept here, as numbered in docs/ARCHITECTURE.md:
//
//	I4  never both paid and cancelled; at most one terminal event of a hold
//	I5  an order that was answered with success is there, with its items, price and payments
//	I6  each capture belongs to one PAID order or to one refund
//	I10 nothing expires before its deadline
//	I11 the same key and body give the same answer; another body is refused; at once there is one effect
//	I13 the total can be recomputed from the pinned menu version
//
// It publishes order.placed, order.paid, order.progressed, order.canceled, order.refund_due and order.refunded, and hears
// none of them. What of paid orders is still to be cooked is a Board, which the screens of a branch share.
package ordering
