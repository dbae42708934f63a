// Package mail sends what other rooms have written into mail_outbox, in the transaction of the fact that it is about.
//
// A letter is claimed, sent outside of any transaction, and deleted once the server has taken it. Whoever dies in between
// leaves it claimed for a while, and it is sent again: at least once, with the same Message-ID.
//
//	E1  what has been accepted is deleted; what has expired is dropped unsent
//	E2  a letter that fails waits longer each time and is dead after MaxAttempts, or at once when the server says that it
//	    will never take it; a server that is out of reach costs no attempt
//	E3  codes are sealed in SQL and opened only to be sent: they stand in no log, error or dead letter
//	E4  what a person has typed can fill a line of a letter but never begin one, in its head or its text
package mail
