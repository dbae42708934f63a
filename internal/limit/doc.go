// Package limit bounds how often somebody may do something. Each policy is a number of requests that may come at once and
// a pace at which they grow again (GCRA, the generic cell rate algorithm): one instant per subject is all that is kept.
//
//	L1  what is granted within any window of a policy is at most twice its burst, whatever the order of requests
//	L2  limits that protect people (logins, codes, orders) are shared by all processes through Redis; while Redis is out
//	    of reach each process keeps the same numbers by itself: limited, never open
//	L3  limits that protect a process (login_instance, api_token, api_ip) are its own affair: a call to Redis for every
//	    request would cost more than what it protects
//	L4  who is refused here by this process is not asked about in Redis: a flood costs the flooded process alone
//	L5  hard caps that must hold for days are kept in SQL by those who need them, not here
package limit
