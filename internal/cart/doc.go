// Package cart owns members' carts, one per member, of dishes and quantities. It also owns the carts that the guests
// of a table share, if their branch enables shared carts. Otherwise a guest's cart is stored only in the browser.
//
//	C1  a member has at most one cart; a dish is in it at most once with the same options
//	C2  a cart has no binding prices: it is priced by the current menu at each read; the stored price only shows what
//	    has changed
//	C3  nothing is reserved for a cart; dishes that are sold out meanwhile are shown as such
//	C4  ordering deletes the whole cart in the order's transaction, or nothing of it
//	C5  a process's cached cart may be outdated: an order placed from it is checked by the ledger and retried, not refused
//	C6  a line of a shared cart is in at most one order, and an order contains it as its guest saw it; a line that was
//	    removed or ordered never comes back
package cart
