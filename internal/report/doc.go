// Package report provides the sales figures: what was sold, when, how it was paid, what was refunded or never paid, and
// how long the kitchen took. It is read-only.
//
// A report covers the orders of some business dates of one branch, whenever their money moved. A sale is an order that
// was paid, at its full price, regardless of later refunds. The figures are consistent:
//
//	R1  each order placed on a date is either a sale, ended unpaid, or open
//	R2  hours and days add up to the same gross sales, and so does the daybook once it has consumed all events; dishes
//	    add up to them before discounts, service charges and taxes that are not contained in prices
//	R3  captured money less refunds due equals gross sales less the refunds of sales
//	R4  the orders that ended unpaid are those that the days count as canceled
//	R5  an hour is an hour of the branch's local clock, even on days with a daylight-saving change
//	R6  turnover and taxes by rate are the sums of the stored quotes, so they are those of the receipts
package report
