// Package visit owns tables with their printed QR tokens and their places on the floor plan, visits, and the guests of
// a visit with the tokens of their phones.
//
// A visit is one party at one table, from its first scan to its closing. A customer token belongs to one visit and ends
// with it. A QR token identifies a table and is not a login: scanning it joins the table's open visit or opens one.
//
// SQL is authoritative. Redis and this process cache which visit a token belongs to, so that most requests need no
// query. The cache may be up to five seconds behind a closing. That is harmless, because the transaction that places an
// order checks in SQL that the visit is open.
//
// Invariants kept here:
//
//	V1 a table has at most one open visit and at most one active QR token
//	V2 a customer token is valid only while its visit is open; for 30 minutes more it may read
//	V3 a closed visit is never opened again, and its tokens never belong to another one
//	V4 an idle visit is closed after its branch's AutoClose, but not while an order is unpaid
//	V5 only the SHA-256 of a customer token is stored
//	V6 a visit moves with its guests, orders and calls to an active table without an open visit; its tokens stay valid
//	V7 two tables never cover the same cell of their section's plan
package visit
