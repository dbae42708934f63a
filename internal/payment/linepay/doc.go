// Package linepay speaks to LINE Pay's Online API, v4 or v3, and is payment.Gateway for the method LINEPAY.
//
// LINE Pay takes money only when we say so: the guest approves on its page, their browser comes back, and we confirm. A
// guest who never comes back is found by asking, and an order that has ended is simply not confirmed. LINE Pay has no
// keys of idempotency. What keeps money from moving twice is:
//
//	L1 an attempt that has a transaction is not started again; LINE Pay accepts the same order id twice
//	L2 a confirmation whose answer was lost, unclear or unheard of is UNKNOWN, never FAILED, and settled by asking
//	L3 a confirmation counts as PAID only when the order, the transaction and the sum of what was paid are those asked for
//	L4 a refund is sent only after LINE Pay's own list shows that it was not, and nothing that our books do not
//	L5 a transaction id is 19 digits of text everywhere: as a number it would be rounded on its way
package linepay
