// Package ordering owns orders: placing, paying and cancelling them, and what their guests may see of them.
//
// A use case (place.go, checkout.go, payment.go, refund.go) validates its request and turns it into a Command. The ledger
// runs commands in batches: it loads and locks the rows they need, a Batch decides them in order of arrival, and the
// ledger writes the Batch's effects in one transaction. The Batch is pure and contains every rule about the life of
// an order.
//
// Invariants kept here, as numbered in docs/ARCHITECTURE.md:
//
//	I4  an order is never both paid and cancelled; a hold has at most one terminal event
//	I5  an order that was confirmed to the client exists, with its items, price and payments
//	I6  each capture belongs to one PAID order or to one refund
//	I10 nothing expires before its deadline
//	I11 the same key and body return the same result; another body is refused; concurrent requests have one effect
//	I13 the total can be recomputed from the pinned menu version
//
// The package publishes order.placed, order.paid, order.progressed, order.canceled, order.refund_due and
// order.refunded. A Board lists the paid orders that are still to be cooked; all screens of a branch share it.
package ordering
