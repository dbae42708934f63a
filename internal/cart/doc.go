// Package cart owns what members mean to order: one cart for each, of dishes and quantities. A guest's cart stays in the
// browser.
//
//	C1  a member has one cart at most; a dish stands in it once
//	C2  a cart holds no prices that anybody pays: it is priced by today's menu whenever it is looked at, and remembers
//	    what was shown before only to tell what has changed
//	C3  nothing is held for a cart; what is sold out meanwhile is shown as such
//	C4  a cart that was ordered from is gone with the order's transaction, or nothing of it is
//	C5  what a process remembers of carts is a guess: whoever goes by it asks the ledger, and is not refused for it
package cart
