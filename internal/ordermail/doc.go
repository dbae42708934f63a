// Package ordermail sends customers e-mails about their orders: received, paid, cancelled, expired, refunded and ready.
//
// A consumer of order events queues an e-mail with its recipient and its language. The e-mail is filled from the order
// when it is sent, so that it states what is true then, and so that the queue contains no copy of the order.
//
//	L1  an e-mail is queued in the transaction that marks its event as consumed, and at most once per order, kind and
//	    refund, however often the event is delivered
//	L2  it goes to the address that was entered with the order; without one, to the verified address of its member;
//	    without either, as for an order of a table, there is no e-mail
//	L3  members can turn off the e-mails that an order was received and that it is ready; the others always go
//	L4  without a mail server nothing is queued
package ordermail
