package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"comanda/internal/fault"
)

// Errors about fields are found in wrapped and joined errors, whose texts stay as they were.
func TestFieldsOf(t *testing.T) {
	one := fault.InField("mail_from", "no_sender", errors.New("no sender"))
	two := fault.InField("public_url", "no_url", errors.New("no URL"))
	err := fmt.Errorf("configuration: %w", errors.Join(one, errors.New("other"), fmt.Errorf("again: %w", two)))
	all := fault.FieldsOf(err)
	if len(all) != 2 || all[0].Field != "mail_from" || all[0].Code != "no_sender" || all[1].Field != "public_url" {
		t.Errorf("FieldsOf = %+v, want mail_from and public_url", all)
	}
	if one.Error() != "no sender" || fault.InField("x", "y", nil) != nil || fault.FieldsOf(nil) != nil {
		t.Error("the text or nil changed")
	}
}
