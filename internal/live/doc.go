// Package live has processes wake each other's live streams: what one has committed, the streams of all show at once. It
// carries no news but the advice to look: streams look from time to time in any case.
//
// Rules kept here:
//
//	W1 whoever tells of a change never waits and never fails; what could not be sent is forgotten
//	W2 what is told within a few milliseconds travels as one message of bounded size
//	W3 whoever begins to listen, for the first time or again, looks at everything: nobody knows what they have missed
//	W4 a message says which orders and which branches, and nothing else: no names, no tokens, no amounts
package live
