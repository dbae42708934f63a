// Package vnpaysim behaves as VNPay 2.1.0 does, for demonstrations and tests: the page on which a guest pays, the notices
// to the merchant's server (IPN) and through the browser (Return URL), the calls querydr and refund, and the ways in which
// all of them can go wrong. No money moves anywhere.
//
// It shares no code with the room that speaks to the real VNPay, so that one misreading of the manual is not on both
// sides. What it knows it keeps in memory, and of that only the latest payments.
package vnpaysim
