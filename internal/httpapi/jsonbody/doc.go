// Package jsonbody decodes the JSON body of a request into a Go value and validates it against its OpenAPI schema in
// one pass over the bytes.
//
// The usual way (decode into maps, validate those, decode again into the struct) costs three times as much. It is also
// lax: it takes the last of two equal keys, matches names regardless of case and rounds large numbers. The rules:
//
//	J1. Everything that Decode accepts is accepted by encoding/json with the same result, except for J6, and by the schema.
//	J2. Unknown and repeated properties are refused, even if they are equal only after unescaping. Names match exactly.
//	J3. An integer is written as an integer within ±(2^53-1), where all JSON readers agree on its value (RFC 8259,
//	    section 6): neither 1.0 nor 1e3 nor 9007199254740993.
//	J4. Strings are valid UTF-8 without lone surrogates and without NUL, which PostgreSQL cannot store.
//	J5. Nesting is limited to MaxDepth and the number of errors to MaxErrors, so that the cost of a body is linear in its
//	    length, which the server limits.
//	J6. A free-text string has the tag text, which names its kind in package text. Text that people type is cleaned before
//	    its length is checked; text that cannot be cleaned is an error of its field. New panics if the tag is missing, so
//	    that no field can be forgotten.
//
// Values of two kinds are passed to encoding/json and to huma's validator as a whole: those whose Go type decodes
// itself (time.Time, json.RawMessage), and those whose schema has constraints that this package does not implement
// (oneOf, uniqueItems). J2 to J4 do not apply inside them.
package jsonbody
