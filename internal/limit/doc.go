// Package limit implements rate limits. A policy has a burst and an interval at which requests are replenished (GCRA,
// the generic cell rate algorithm); it stores one timestamp per subject.
//
//	L1  within any window a policy grants at most twice its burst, in whatever order requests arrive
//	L2  limits that protect users (logins, codes, orders) are shared by all processes through Redis; while Redis is
//	    unreachable each process applies the same policy by itself: limited, never open
//	L3  limits that protect a process (login_instance, api_token, api_ip) are local: a call to Redis for every request
//	    would cost more than the request
//	L4  a request that this process refuses is not sent to Redis: a flood costs the flooded process only
//	L5  hard limits over days are stored in SQL by the packages that need them, not here
package limit
