// Package vnpay is a client of VNPay's protocol 2.1.0 and implements payment.Gateway. Sections of the manual are cited
// by name: "PAY" is the payment page with the IPN and the Return URL, "QUERYDR&REFUND" is the API.
//
// VNPay captures by itself and reports twice: by a request from its server (IPN), which is authoritative and repeated
// until it gets a valid reply, and by redirecting the guest's browser (Return URL).
//
//	V1 a message is not read before its signature is verified, and then only its signed part is
//	V2 times are in UTC+7, whatever zone this process runs in
//	V3 an attempt's page is the same URL each time, so that VNPay has one payment
//	V4 a refund is the same request each time, and is not sent when VNPay would not recognize a repetition
//	V5 PAID needs both of VNPay's codes to be 00; unknown codes are never PAID
package vnpay
