// Package vnpay speaks VNPay's protocol 2.1.0 and is payment.Gateway for the method VNPAY. Sections of its manual are
// named as there: "PAY" is the page on which guests pay with the IPN and the Return URL, "QUERYDR&REFUND" is the API.
//
// VNPay takes money by itself, before we hear of it, and tells us twice: by a request from its server (IPN), which is the
// truth and is repeated until it is answered, and through the guest's browser (Return URL), which may only be shown.
//
//	V1 nothing of a message is looked at before its signature holds; then only what was signed is looked at
//	V2 times are those of a clock at UTC+7 whatever zone this process runs in
//	V3 an attempt's page is the same page however often it is asked for, so that VNPay sees one payment
//	V4 a refund is the same request however often it is sent, and is not sent when VNPay would not know it again
//	V5 PAID needs both of VNPay's codes to say so; codes that nobody knows are never PAID
package vnpay
