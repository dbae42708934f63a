package vnpaysim

// texts are the page's texts. Keys in capitals are messages that replace the buttons.
var texts = map[string]map[string]string{
	"en": {
		"name": "English", "title": "VNPay simulator", "notice": "Nothing is paid here: this is a simulator.",
		"order": "Reference", "left": "Time left", "until": "until", "zone": "(GMT+7)", "over": "The time to pay is over.",
		"pay": "Pay", "decline": "Cancel", "more": "What else can happen", "refuse": "Have the bank refuse",
		"again": "Card refused, then paid", "close": "Close the window", "leave": "Pay, then close the window",
		"twice": "Pay twice", "late": "Pay too late", "timeout": "Pay nevertheless", "back": "Back to the restaurant",
		"CLOSED": "The guest has closed the window. You may close it as well.",
		"LATER":  "The guest will pay when the time is over. You may close the window.",
		"FAILED": "This payment has failed.", "PAID": "This is paid.",
		"E01": "This order was already sent with different data.", "E03": "The address of this page is not valid.",
		"E15": "The time to pay is over.", "E70": "The signature is not valid.", "E72": "No such site.",
	},
	"vi": {
		"name": "Tiếng Việt", "title": "VNPay mô phỏng", "notice": "Đây là trang mô phỏng, không có tiền nào được chuyển.",
		"order": "Mã giao dịch", "left": "Còn lại", "until": "đến", "zone": "(GMT+7)", "over": "Đã hết thời gian thanh toán.",
		"pay": "Thanh toán", "decline": "Hủy", "more": "Tình huống khác", "refuse": "Ngân hàng từ chối",
		"again": "Thẻ bị từ chối, sau đó thành công", "close": "Đóng cửa sổ", "leave": "Thanh toán rồi đóng cửa sổ",
		"twice": "Thanh toán hai lần", "late": "Thanh toán trễ", "timeout": "Vẫn thanh toán", "back": "Quay lại nhà hàng",
		"CLOSED": "Khách đã đóng cửa sổ. Bạn cũng có thể đóng trang này.",
		"LATER":  "Khách sẽ thanh toán sau khi hết giờ. Bạn có thể đóng cửa sổ.",
		"FAILED": "Giao dịch không thành công.", "PAID": "Đã thanh toán.",
		"E01": "Giao dịch đã tồn tại.", "E03": "Dữ liệu gửi sang không đúng định dạng.",
		"E15": "Đã quá thời gian thanh toán.", "E70": "Sai chữ ký.", "E72": "Không tìm thấy website.",
	},
}
