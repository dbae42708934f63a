// Package vnpaysim simulates VNPay 2.1.0 for demonstrations and tests: the payment page, the notices to the merchant's
// server (IPN) and through the browser (Return URL), the commands querydr and refund, and the faults of all of them. No
// money moves.
//
// It shares no code with package vnpay, so that a misreading of the manual is not on both sides. It keeps the latest
// payments in memory.
package vnpaysim
