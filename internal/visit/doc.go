// Package visit owns who sits where: tables with the tokens printed on them, visits, and the guests of a visit with the
// tokens of their phones.
//
// A visit is one party at one table, from its first scan to its closing. A customer token is bound to one visit for
// ever: it ends with the visit and nothing brings it back. A QR token identifies a table and is no login; whoever scans
// it joins the table's open visit or opens one.
//
// SQL decides. Redis and this process remember which visit a token belongs to, so that an order need not ask SQL; what
// they remember may be up to five seconds behind a closing, which harms nothing because the ledger asks SQL whether the
// visit is open within the transaction that places the order.
//
// Rules kept here:
//
//	V1 a table has at most one open visit and at most one active QR token
//	V2 a customer token is worth something only while its visit is open; for 30 minutes more it may read
//	V3 a closed visit is never opened again, and its tokens never belong to another one
//	V4 a visit closes by itself after the branch's minutes without a sign of life, but not while an order is unpaid
//	V5 only the SHA-256 of a customer token is kept
//	V6 a party moves with its guests, orders and calls, to a table that is free and in use; nobody loses their token
package visit
