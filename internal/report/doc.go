// Package report owns the figures of the house: what was sold, when and of what, how it was paid, what was given back and
// what came to nothing, how long the kitchen took. It only reads, and never decides.
//
// Everything is told of the orders of some business dates of one branch, whenever their money moved. A sale is an order
// that was paid, at its full price, whatever was given back later. The figures agree with each other:
//
//	R1  of the orders placed on a date each is a sale, ended unpaid or still open, and never two of these
//	R2  hours, days and dishes add up to the same gross sales, and so does the daybook once it has heard everything
//	R3  what was captured less what goes back is the gross sales less what was refunded of them
//	R4  the orders that ended unpaid are those that the days count as canceled
//	R5  an hour is an hour of the branch's own clock, also on the days on which that is set forward or back
package report
