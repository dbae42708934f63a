package linepay

import "fmt"

// codeGroup says how to handle a returnCode. Each call reads the groups in its own way: a refusal, for example, settles
// a refund and leaves a confirmation unknown.
type codeGroup uint8

const (
	unclear  codeGroup = iota // the outcome is unknown: check before anything else; the zero value, for unlisted codes
	success                   // the request succeeded
	guest                     // the guest can try again in a new attempt
	merchant                  // our contract, settings or request are wrong; nothing happened
	refusal                   // a lookup or refund that LINE Pay refuses for good
)

// The codes that are handled individually.
const (
	codeOK              = "0000" // success; for a check: waiting for the guest
	codeApproved        = "0110"
	codeCanceled        = "0121" // cancelled by the guest, or expired
	codeFailed          = "0122"
	codePaid            = "0123"
	codeUnknown         = "1150" // no such transaction
	codeExceedsLeft     = "1164" // the amount exceeds what is left to refund
	codeAlreadyRefunded = "1165" // refunded already
	codeNotApproved     = "1169"
)

// groups lists the codes of the manual's appendix that are not unclear. Those in work, repeated or internal (1145, 1152,
// 1172, 1198, 1199, 19xx, 9000) are unclear on purpose: money may have moved.
var groups = map[string]codeGroup{
	codeOK: success,

	"1101": guest, "1102": guest, "1110": guest, "1141": guest, "1142": guest, codeNotApproved: guest, "1170": guest,
	"1180": guest,

	"1104": merchant, "1105": merchant, "1106": merchant, "1124": merchant, "1153": merchant, "1178": merchant,
	"1183": merchant, "1194": merchant, "2101": merchant, "2102": merchant,

	codeUnknown: refusal, "1155": refusal, "1159": refusal, "1163": refusal,
	codeExceedsLeft: refusal, codeAlreadyRefunded: refusal,
	"1177": refusal, "1179": refusal,
}

// groupOf returns the group of a code, and unclear for one that the manual does not list. Four digits compare as text
// like numbers.
func groupOf(code string) codeGroup {
	if len(code) == 4 && code >= "1280" && code <= "1298" { // errors of the guest's card
		return guest
	}
	return groups[code]
}

// codeError is the error for a returnCode that the caller does not handle. It becomes the cause of payment.ErrGateway:
// the log has it and guests never see it. Details returns it with 1150 for a payment that LINE Pay does not have.
type codeError struct{ call, code, message string }

func (e *codeError) Error() string {
	return fmt.Sprintf("linepay: %s was answered %s %q", e.call, e.code, e.message)
}
