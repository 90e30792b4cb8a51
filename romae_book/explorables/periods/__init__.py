"""Can attention find a period? (chapter 04)"""
