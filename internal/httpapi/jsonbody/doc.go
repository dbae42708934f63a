// Package jsonbody reads the JSON body of a request into a Go value and checks it against its OpenAPI schema in one
// pass over the bytes.
//
// It exists because the usual way (decode into maps, validate those, decode again into the struct) costs three times
// as much and is lax in ways that hurt a shop: it takes the last of two equal keys, matches names regardless of case
// and rounds large numbers. The rules:
//
//	J1. What Decode accepts, encoding/json accepts too and decodes to the same value but for J6, and the schema accepts.
//	J2. Unknown and repeated properties are refused, also where they are equal but for escapes. Names match exactly.
//	J3. An integer is written as an integer and lies within ±(2^53-1), where every reader of JSON agrees about it
//	    (RFC 8259, section 6): neither 1.0 nor 1e3 nor 9007199254740993.
//	J4. Strings are valid UTF-8 without lone surrogates and without NUL, which PostgreSQL cannot store.
//	J5. Nesting is limited to MaxDepth and the list of errors to MaxErrors, so that the cost of a body is linear in its
//	    length, which the server limits.
//	J6. A string that may hold any text has the tag text, which names its kind in package text. What people type is
//	    cleaned before its length is checked; what cannot be cleaned is a mistake of its field. New panics where the
//	    tag is missing, so that a field cannot escape the rule by being forgotten.
//
// A value whose Go type decodes itself (time.Time, json.RawMessage) or whose schema says more than this package knows
// (oneOf, uniqueItems) is handed to encoding/json and to huma's validator whole; J2 to J4 do not reach inside it.
package jsonbody
