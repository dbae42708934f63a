// Package live notifies live streams about changes: Topic those of this process, Hub those of other processes.
// Notifications carry no data: they only make streams reload earlier than their next poll.
//
// Rules kept here:
//
//	W1 notifying never blocks and never fails; a notification that cannot be sent is dropped
//	W2 notifications within a few milliseconds are sent as one message of bounded size
//	W3 after every (re)subscription all streams reload, because messages may have been missed
//	W4 a message names orders, branches, visits and readers by their ids only: no tokens, no amounts
//	W5 when a subscription is lost, all streams reload and return to short polling intervals at once
package live
