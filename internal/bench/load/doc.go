// Package load asks a server on this machine as fast as it answers, or at a fixed pace, and counts how long it takes.
//
// The generator shares its processors with the server that it measures, so it is lean: requests are bytes that were
// built before, answers are only looked at as far as their end must be found, and nothing is allocated per request.
//
//	L1  only loopback addresses are asked: this is no tool against other people's servers
//	L2  every measurement ends: by its duration, by its context, or by the timeout of its last answer
//	L3  a paced measurement counts from the instant at which a request was due, not from the one at which the generator
//	    got round to sending it; a server that stalls is charged for everybody who would have asked meanwhile
//	L4  a quantile is never told smaller than it is, and at most 1/64 and a microsecond larger
package load
