// Package mail sends the messages that other packages queue in mail_outbox, in the transaction of the event that they
// are about.
//
// A message is claimed, sent outside of any transaction, and deleted once the server has accepted it. If the process
// dies in between, the claim expires and the message is sent again: delivery is at least once, with the same
// Message-ID.
//
//	E1  an accepted message is deleted; an expired one is deleted unsent
//	E2  a failed message is retried with exponential backoff and becomes a dead letter after MaxAttempts, or at once when
//	    the server rejects it permanently; an unreachable server costs no attempt
//	E3  codes are encrypted in SQL and decrypted only for sending: no log, error or dead letter contains them
//	E4  user input can fill a line of a message but never start one, in the header or the body
package mail
