// Package httpapi is the HTTP edge: the server, the middleware of every request, and the contract (OpenAPI 3.1, problem
// details) in which packages register their routes.
//
//	H1. Every route has a Policy. Routes are registered through Register, RegisterOutput, RegisterBytes, RegisterStream or
//	    API.Handle, which require one; the OpenAPI document shows it as x-policy.
//	H2. Every error response is application/problem+json of one shape (RFC 9457), whether it comes from the mux, huma, a
//	    middleware or a handler. One table maps kinds of faults to statuses.
//	H3. Internal errors are logged and never sent to clients; data that identifies a guest (query strings, tokens) is never
//	    logged.
//	H4. Every request produces one log record and one observation, with labels from a closed set.
//	H5. A request costs bounded memory and time: its URL, headers and body are limited, the number of concurrent requests
//	    is limited, and each request has a deadline.
//
// A request passes, from outside in: Server.ServeHTTP (request id, security headers, panics, the record of H4), the
// mux, route.ServeHTTP (limits, policy, deadline), and then huma (parameters, body, response) or a plain handler.
package httpapi
