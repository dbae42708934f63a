// Package httpapi is the edge of the process: the server, what surrounds every request, and the contract (OpenAPI 3.1,
// problem details) that rooms register their routes in.
//
//	H1. Every route has a Policy. Rooms register through Register, RegisterBytes or API.Handle, which demand one; the
//	    OpenAPI document shows it as x-policy.
//	H2. Every refusal and failure is an application/problem+json of one shape (RFC 9457), whoever refused: the mux,
//	    huma, a middleware, a room. One table turns kinds of faults into statuses.
//	H3. What failed inside is logged and never answered; what identifies a guest (query strings, tokens) is never logged.
//	H4. Every request leaves one log record and one observation, with labels from a closed set.
//	H5. A request costs bounded memory and time: its URL, headers and body are limited, the number of requests at a time
//	    is limited, and each has a deadline.
//
// A request passes, from outside in: Server.ServeHTTP (request id, security headers, panics, the record of H4), the
// mux, route.ServeHTTP (limits, policy, deadline), and then huma (parameters, body, answer) or a plain handler.
package httpapi
