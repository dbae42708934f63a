// Package mailing selects members by segments, exports them, and sends them e-mails: news to those who agreed to them, and
// reminders to finish a registration.
//
// A mailing is a row. A loop queues its e-mails in mail_outbox, a few at a time, so that e-mails about orders are never
// behind a mailing and a mailing can be cancelled while it is sent.
//
//	N1  each member gets an e-mail of a mailing at most once: the queue's row and the row of the recipient are written in
//	    one transaction, with the position from which the next continues
//	N2  news go only to verified addresses whose members agree, which is checked when an e-mail is queued and again when it
//	    is sent; each has a link and a header that withdraw the consent
//	N3  an account is reminded once in its life, whatever the number of mailings; one that left the queue unsent, because it
//	    was cancelled or has expired, does not count
//	N4  a mailing queues at most BatchSize e-mails per BatchInterval, and none while MaxWaiting of any mailing wait; it has at
//	    most MaxRecipients
//	N5  a cancelled mailing sends nothing that is not being sent already
package mailing
