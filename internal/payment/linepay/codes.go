package linepay

import "fmt"

// group is what can be done about a returnCode.
type group uint8

const (
	unclear  group = iota // nobody knows what came of the call: ask before anything else. So is every code unheard of
	success               // done
	guest                 // the guest can do something about it, in a new attempt
	merchant              // our contract, settings or request are wrong; nothing has happened
	refusal               // a lookup or a refund that LINE Pay will not do, however often it is asked
)

// The codes that have a meaning of their own.
const (
	codeOK          = "0000" // of the check: still waiting for the guest
	codeApproved    = "0110"
	codeEnded       = "0121" // cancelled by the guest, or not approved in time
	codeFailed      = "0122"
	codePaid        = "0123"
	codeUnknown     = "1150" // no such transaction
	codeMore        = "1164" // more than is left
	codeAgain       = "1165" // given back already
	codeNotApproved = "1169"
)

// groups lists the codes of the manual's table that are not unclear.
var groups = map[string]group{
	codeOK: success,

	"1101": guest, "1102": guest, "1110": guest, "1141": guest, "1142": guest, codeNotApproved: guest, "1170": guest,
	"1180": guest,

	"1104": merchant, "1105": merchant, "1106": merchant, "1124": merchant, "1153": merchant, "1178": merchant,
	"1183": merchant, "1194": merchant, "2101": merchant, "2102": merchant,

	codeUnknown: refusal, "1155": refusal, "1159": refusal, "1163": refusal, codeMore: refusal, codeAgain: refusal,
	"1177": refusal, "1179": refusal,
}

func groupOf(code string) group {
	if len(code) == 4 && code >= "1280" && code <= "1298" { // the card's troubles
		return guest
	}
	return groups[code]
}

// codeError is an answer with a returnCode that the call has no use for.
type codeError struct{ call, code, message string }

func (e *codeError) Error() string {
	return fmt.Sprintf("linepay: %s was answered %s %q", e.call, e.code, e.message)
}
