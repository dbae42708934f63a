// Package linepay is a client of LINE Pay's Online API, v4 or v3, and implements payment.Gateway. Pages of its manual
// (developers-pay.line.me, "Online API") are cited by their titles; the code tables are in its appendix. Both versions
// have the same calls and signatures; only the path's prefix differs.
//
// LINE Pay captures only on request: the guest approves on its page, the browser returns, and this client confirms. If
// a guest does not return, a check finds the approval. An order that has ended is not confirmed. LINE Pay has no
// idempotency keys. These rules keep money from moving twice:
//
//	L1 an attempt with a transaction is not started again; LINE Pay accepts the same order id twice
//	L2 a confirmation whose response was lost or unclear is UNKNOWN, never FAILED, and settled by checking
//	L3 a confirmation is PAID only if the order, the transaction and the paid sum are those requested
//	L4 a refund is sent only after LINE Pay's list shows that it was not sent, and that it has no refund unknown to Comanda
//	L5 a transaction id is a string of 19 digits everywhere: as a float it would be rounded
//	L6 a start is refused only by a code after which nothing has happened; a payment that an earlier, lost response was about
//	   takes no money, because only a transaction that is stored is confirmed
package linepay
