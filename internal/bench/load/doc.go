// Package load sends requests to a server on this machine at full speed or at a fixed rate, and records latencies.
//
// The generator shares its CPUs with the server, so it is lean: requests are prebuilt bytes, responses are parsed only
// as far as needed to find their end, and nothing is allocated per request.
//
//	L1  only loopback addresses are allowed, so that it cannot be used against other servers
//	L2  every measurement ends: by its duration, by its context, or by the timeout of its last response
//	L3  a paced measurement counts latency from the time a request was due, not from when it was sent, so a stall also
//	    counts for the requests that would have been sent meanwhile (no coordinated omission)
//	L4  a reported quantile is never too low, and at most 1/64 plus a microsecond too high
package load
