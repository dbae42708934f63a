// Package notice keeps the notices of members, guests and staff: that an order is ready, was paid, cancelled, refunded or
// has expired, that stock is low, that a table calls, that money must be refunded.
//
// A consumer of events makes them, as rows. They carry data and no text, because each device shows them in the language
// of its reader.
//
//	N1  a notice is stored in the transaction that marks its event as consumed, and at most once per event and audience,
//	    however often the event is delivered
//	N2  a reader sees the notices of its audiences only, and of these only kinds that it may see; any other notice is
//	    answered like a missing one
//	N3  a read mark belongs to one reader, is never removed while the notice exists, and reaches the reader's other devices
//	N4  rows are authoritative: a notification through Redis only makes bells read them earlier
//	N5  what is delivered by Web Push is encrypted for one browser; endpoints and keys are in no log, error or answer
package notice
